// Biome lints and formats. These four rules need types, and find the unawaited promises that lose
// records; nothing else belongs here.
import tseslint from "typescript-eslint";

export default [
  {
    ignores: [
      "node_modules/",
      "dist/",
      "dist-build*/",
      "coverage/",
      "test/fixtures/",
      "test/pack/",
      "**/*.d.ts",
    ],
  },
  {
    files: ["services/**/*.ts", "test/**/*.ts", "tasks/*.js", "infra/**/*.{js,mjs}", "bin/*.js"],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: ["./test/tsconfig.json"], tsconfigRootDir: import.meta.dirname },
    },
    plugins: { "@typescript-eslint": tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/await-thenable": "error",
      // A default branch answers for the cases that a foreign union may grow.
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    // Here every case is named, default or not: a new kind of event must stop at each switch.
    files: ["services/core/**/*.ts", "services/runtime/**/*.ts"],
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: false },
      ],
    },
  },
];
