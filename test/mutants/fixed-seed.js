// Property tests draw the same cases in each run, so that what they notice does not depend on luck.
import fc from "fast-check";

const SEED = 1;

fc.configureGlobal({ seed: SEED });
