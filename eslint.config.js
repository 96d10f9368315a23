import js from "@eslint/js";
import tseslint from "typescript-eslint";

const OTHER_FORMS = [
  { selector: "ExportDefaultDeclaration", message: "Named exports only." },
  { selector: "TSEnumDeclaration", message: "String unions, not enums." },
];
const MISSED_SIGNALS = {
  selector: "CallExpression[callee.property.name='addEventListener'][arguments.0.value='abort']",
  message: "Use `onAbort` of src/base: a listener misses a signal that has come already.",
};

export default tseslint.config(
  { ignores: ["dist/", "build/", "node_modules/", "coverage/", "examples/"] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: "./tsconfig.json" } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "no-restricted-globals": ["error", { name: "WebSocket", message: "Not in Node 20." }],
      "no-restricted-syntax": ["error", ...OTHER_FORMS, MISSED_SIGNALS],
    },
  },
  {
    files: ["src/base/on-abort.ts", "**/*.test.ts", "test/**"],
    rules: { "no-restricted-syntax": ["error", ...OTHER_FORMS] },
  },
  { files: ["**/*.test.ts", "test/**"], rules: { "@typescript-eslint/no-non-null-assertion": "off" } },
  { files: ["*.js", "*.config.ts"], rules: { "no-restricted-syntax": "off" } },
  { files: ["**/*.{js,mjs}"], extends: [tseslint.configs.disableTypeChecked] },
);
