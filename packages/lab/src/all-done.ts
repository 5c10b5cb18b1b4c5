/** Like Promise.all, but a failure is reported only when nothing runs in the background any more. */
export async function allDone<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
