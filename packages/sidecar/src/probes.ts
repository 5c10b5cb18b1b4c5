import type { HttpAnswer, HttpRoutes } from './http.ts';
import { judgeLiveness, judgeReadiness, type Verdict } from './readiness.ts';
import type { Termination } from './termination.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

export interface ProbeDependencies {
  readonly watch: ValkeyWatch;
  readonly termination: Termination;
  readonly metrics: () => string;
}

/** A probe is answered from a look that is not older than this. */
const LOOK_AGE_MS = 1000;
const LOOK_TIMEOUT_MS = 900;

/** What the kubelet and Prometheus ask. */
export function createProbeRoutes({ watch, termination, metrics }: ProbeDependencies): HttpRoutes {
  const answer = ({ ok, message }: Verdict): HttpAnswer => ({ ok, text: message });
  const look = () => watch.look(LOOK_AGE_MS, LOOK_TIMEOUT_MS).catch(() => undefined);
  return {
    // That this process answers at all, whatever becomes of Valkey.
    '/healthz': () => ({ ok: true, text: 'ok' }),
    '/healthz/live': async () => {
      await look();
      return answer(judgeLiveness(watch.view, new Date()));
    },
    '/healthz/ready': async () => {
      await look();
      return answer(judgeReadiness(watch.view, watch.facts));
    },
    // Always a success: a preStop hook that fails would only be logged by the kubelet, and end the grace early.
    '/prestop': async () => {
      const result = await termination.begin();
      return { ok: true, text: result.outcome };
    },
    '/metrics': () => ({ ok: true, text: metrics().trimEnd() }),
  };
}
