import { useSlimHeaders } from '@valkey-operator/rpc/slim-headers';
import { createLogger } from './log.ts';
import { runOperator } from './operator.ts';
import { parseOptions } from './options.ts';

useSlimHeaders();
const options = parseOptions(process.argv.slice(2), process.env);
if ('print' in options) {
  console.log(options.print);
} else {
  const log = createLogger(options.run.logLevel);
  const ended = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ended.abort());
  runOperator(options.run, log, ended.signal).then(
    () => process.exit(0),
    (error: unknown) => {
      log.fatal({ error: String(error) }, 'operator stopped');
      process.exit(1);
    },
  );
}
