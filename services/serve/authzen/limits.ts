/** Bounds of requests of the Authorization API. */

/** Of every id, type and name. */
export const MEMBER_CHARACTERS_MAX = 256;
/** Of one batch. */
export const EVALUATIONS_MAX = 100;
