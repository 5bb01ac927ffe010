import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

export default ts.config(
  { ignores: ["dist/", "node_modules/", "src/protocol/protocol.gen.ts"] },
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "no-eval": "error",
      "no-console": "error",
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { extraFileExtensions: [".svelte"], parser: ts.parser, svelteConfig } },
    rules: {
      // The content security policy forbids both; there are no exceptions.
      "svelte/no-at-html-tags": "error",
      // (Of styles only the literal attribute: `style:name={...}` is set through the CSSOM, which the policy allows.)
      "no-restricted-syntax": ["error", { selector: "SvelteAttribute[key.name='style']", message: "Use a class or style:name={...}." }],
      // State that is shown is $state; what is not shown needs no reactive Map or URL.
      "svelte/prefer-svelte-reactivity": "off",
      // Links are plain addresses here; the router takes the clicks (app/router.svelte.ts).
      "svelte/no-navigation-without-resolve": "off",
    },
  },
  { files: ["src/boot.js"], languageOptions: { sourceType: "script" } },
);
