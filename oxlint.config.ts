import { defineConfig, type OxlintOverride } from 'oxlint';
import { mayImport, restrictImports, restrictIo } from './scripts/lint/import-directions.ts';

const impureGlobals = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'fetch',
  'process',
  'performance',
  'crypto',
  'globalThis',
];

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  jsPlugins: ['./scripts/lint/purity.ts'],
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['packages/rpc/src/gen/**'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    // Promises: the bugs that tests rarely catch.
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/only-throw-error': 'error',

    // Types are kept honest.
    'typescript/no-explicit-any': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/no-unsafe-function-type': 'error',
    'typescript/no-deprecated': 'error',
    'typescript/consistent-type-imports': 'error',
    'no-unused-vars': ['error', { ignoreRestSiblings: true }],
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',

    // Modules.
    'import/no-cycle': 'error',
    'unicorn/prefer-node-protocol': 'error',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],

    // Size: aim under 150 lines; above 300 a file is split, or listed below with its reason.
    'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
    complexity: ['error', { max: 20, variant: 'modified' }],
    'max-depth': ['error', 4],
    'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'] }],

    // Tests that assert nothing, or do not run.
    'vitest/no-focused-tests': 'error',
    'vitest/no-disabled-tests': 'error',
    'vitest/no-identical-title': 'error',

    // Not ours: sequential awaits are how an operator acts, and short closures read better where they are used.
    'unicorn/consistent-function-scoping': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/consistent-return': 'off',
    'eslint/no-shadow': 'off',
    'eslint/no-underscore-dangle': 'off',
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off',
    'promise/always-return': 'off',
    'unicorn/require-module-specifiers': 'off',
    'vitest/require-mock-type-parameters': 'off',
    // A property is often an implication: when this, then expect that.
    'vitest/no-conditional-expect': 'off',
    'vitest/no-standalone-expect': 'off',
  },
  overrides: [
    ...Object.keys(mayImport).map((name): OxlintOverride => ({
      files: [`packages/${name}/**/*.ts`],
      rules: { 'no-restricted-imports': ['error', { patterns: restrictImports(name) }] },
    })),
    {
      files: ['packages/core/**/*.ts'],
      excludeFiles: ['**/*.test.ts'],
      rules: {
        'no-restricted-imports': ['error', { patterns: restrictImports('core'), ...restrictIo }],
        'no-restricted-globals': ['error', ...impureGlobals],
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message: 'core is pure: take the time from the snapshot.' },
          { object: 'Math', property: 'random', message: 'core is pure: the same snapshot gives the same plan.' },
        ],
        'purity/no-clock': 'error',
      },
    },
    { files: ['**/*.test.ts'], rules: { 'max-lines': 'off' } },
  ],
});
