import type { Lab } from '@valkey-operator/lab';

/** The stages of a birth, in order: who tells of each, and in which words. The last pod to get there counts. */
const STAGES = [
  { what: 'the StatefulSet is applied', who: 'operator', line: /"action":"apply StatefulSet/ },
  { what: 'Valkey may start', who: 'sidecar', line: /"msg":"Valkey may start"/ },
  { what: 'Valkey answers', who: 'sidecar', line: /"msg":"Valkey answers"/ },
  { what: 'the sidecars are up', who: 'sidecar', line: /"msg":"the sidecar is up"/ },
  { what: 'slots are given', who: 'operator', line: /"action":"addSlots/ },
  { what: 'nodes know each other', who: 'operator', line: /"action":"meet/ },
  { what: 'replicas follow', who: 'operator', line: /"action":"replicate/ },
  { what: 'nodes say that they serve', who: 'sidecar', line: /"event":"readinessChanged"/ },
] as const;

/** Seconds from `bornAt` to each stage, as the logs of operator and sidecars tell: where the time of a birth goes. */
export async function traceBirth(lab: Lab, { namespace, name }: { namespace: string; name: string }, bornAt: number) {
  const read = async (...of: string[]) => (await lab.kubectl(['logs', '--tail=1000', ...of])).stdout.split('\n');
  const logs = {
    operator: (await read('-n', 'valkey-system', 'deployment/valkey-operator')).filter((line) =>
      line.includes(`"cluster":"${namespace}/${name}"`),
    ),
    sidecar: await read('-n', namespace, '-c', 'sidecar', '-l', `valkey.io/cr=${name}`, '--max-log-requests=20'),
  };
  return STAGES.map(({ what, who, line }) => {
    const times = logs[who].filter((each) => line.test(each)).map(timeOf);
    return { what, seconds: (Math.max(...times.filter((time) => time >= bornAt)) - bornAt) / 1000 };
  });
}

function timeOf(line: string): number {
  return Date.parse((JSON.parse(line) as { time: string }).time);
}
