import type { RespValue } from '@valkey-operator/valkey';
import { call, type TestCluster } from '../../support/test-cluster.ts';

const LIBRARY = "#!lua name=lab\nserver.register_function('answer', function() return 42 end)";

/** On every primary, as a person does it who wants to call it anywhere. */
export async function loadFunction(cluster: TestCluster): Promise<void> {
  for (const { ip } of await cluster.primaries()) await call(ip, ['FUNCTION', 'LOAD', 'REPLACE', LIBRARY]);
}

/** What each primary that has slots answers. */
export async function callFunction(cluster: TestCluster): Promise<RespValue[]> {
  return Promise.all((await cluster.primaries()).map(({ ip }) => call(ip, ['FCALL', 'answer', '0'])));
}
