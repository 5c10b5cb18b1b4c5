import { defineConfig } from 'vitest/config';

const MINUTE = 60_000;

export default defineConfig({
  test: {
    teardownTimeout: MINUTE,
    projects: [
      {
        test: {
          name: 'unit',
          // Nothing here waits for a clock; this only bounds a hang on a machine that is busy with other things.
          testTimeout: MINUTE,
          hookTimeout: MINUTE,
          expect: { poll: { timeout: MINUTE / 2, interval: 10 } },
          include: [
            'packages/**/*.test.ts',
            'scripts/**/*.test.ts',
            'tests/bench/**/*.test.ts',
            'tests/load/**/*.test.ts',
          ],
        },
      },
      {
        // One real Kubernetes under all of them: one file after the other, and time for what a cluster takes.
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          globalSetup: ['tests/e2e/global-setup.ts'],
          setupFiles: ['tests/e2e/support/setup.ts'],
          fileParallelism: false,
          // Two cores carry a whole Kubernetes: what is late once is tried again, and the runner says so by name.
          retry: 1,
          testTimeout: 3 * MINUTE,
          hookTimeout: 10 * MINUTE,
        },
      },
    ],
  },
});
