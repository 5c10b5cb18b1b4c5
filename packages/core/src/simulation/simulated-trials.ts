import { annotations } from '@valkey-operator/api';
import type { buildTrialPod } from '../builders/trial-pod.ts';
import type { TrialView } from '../snapshot.ts';

/** What becomes of a Valkey that is started with settings, on a pod of its own. */
export class SimulatedTrials {
  /** It does not see what a start on a node would. */
  blind = false;
  current: TrialView | undefined;
  #lines: readonly string[] = [];

  begin({ metadata, spec }: ReturnType<typeof buildTrialPod>): boolean {
    const { containers } = spec as { containers: readonly { command: readonly string[] }[] };
    const words = containers[0]?.command.slice(1) ?? [];
    this.#lines = words.flatMap((word, at) => (at % 2 === 0 ? [`${word.slice(2)} "${words[at + 1]}"`] : []));
    const asked = metadata.annotations?.[annotations.applied] ?? '';
    this.current = { name: metadata.name, uid: `uid of ${metadata.name}`, asked, verdict: 'unknown', message: '' };
    return true;
  }

  end(uid: string): boolean {
    if (this.current?.uid !== uid) return false;
    this.current = undefined;
    return true;
  }

  tick(fatal: ReadonlySet<string>): void {
    if (this.current?.verdict !== 'unknown') return;
    const line = this.blind ? undefined : this.#lines.find((each) => fatal.has(each));
    const message = line ? `${line} (argument must be between 1 and 64)` : '';
    this.current = { ...this.current, verdict: line ? 'refused' : 'accepted', message };
  }
}
