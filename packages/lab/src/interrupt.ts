/** A signal that aborts on Ctrl-C and friends; a second Ctrl-C ends the process at once. */
export function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.exitCode = 130;
      controller.abort(new Error(`interrupted by ${signal}`));
    });
  }
  return controller.signal;
}
