import { EnvironmentError, readEnvironment } from './environment.ts';
import { createLog } from './log.ts';
import { runSidecar } from './run-sidecar.ts';

const log = createLog({ pod: process.env['POD_NAME'], cluster: process.env['VALKEY_CLUSTER'] }, (line) =>
  process.stdout.write(line),
);
const ended = new AbortController();
process.once('SIGTERM', () => ended.abort());
process.once('SIGINT', () => ended.abort());

void run().then(
  // A thread may still wait for a Valkey at the FIFO.
  () => process.exit(),
);

async function run(): Promise<void> {
  try {
    await runSidecar(readEnvironment(process.env), log, ended.signal);
  } catch (error) {
    const reason = error instanceof EnvironmentError ? error.message : error;
    log.error('the sidecar cannot go on', { reason, stack: error instanceof Error ? error.stack : undefined });
    process.exitCode = 1;
  }
}
