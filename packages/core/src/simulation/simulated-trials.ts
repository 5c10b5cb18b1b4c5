import { annotations } from '@valkey-operator/api';
import type { buildTrialPod } from '../builders/trial-pod.ts';
import type { TrialView } from '../snapshot.ts';

/** What there is to be found out. */
interface Truth {
  /** Settings with which no Valkey starts, as it would write them. */
  readonly fatalSettings: ReadonlySet<string>;
  /** Images that no registry has. */
  readonly brokenImages: ReadonlySet<string>;
  readonly versionOf: (image: string) => string;
}

/** What becomes of a Valkey that is started with settings, on a pod of its own. */
export class SimulatedTrials {
  /** It does not see what a start on a node would. */
  blind = false;
  current: TrialView | undefined;
  #lines: readonly string[] = [];
  #image = '';

  begin({ metadata, spec }: ReturnType<typeof buildTrialPod>, now: number): boolean {
    const { containers } = spec as { containers: readonly { image: string; command: readonly string[] }[] };
    const words = containers[0]?.command.slice(1) ?? [];
    this.#lines = words.flatMap((word, at) => (at % 2 === 0 ? [`${word.slice(2)} "${words[at + 1]}"`] : []));
    this.#image = containers[0]?.image ?? '';
    const asked = metadata.annotations?.[annotations.applied] ?? '';
    const { name } = metadata;
    this.current = { name, uid: `uid of ${name}`, createdAt: now, asked, verdict: 'unknown', message: '' };
    return true;
  }

  end(uid: string): boolean {
    if (this.current?.uid !== uid) return false;
    this.current = undefined;
    return true;
  }

  tick({ fatalSettings, brokenImages, versionOf }: Truth): void {
    if (this.current?.verdict !== 'unknown') return;
    if (!this.blind && brokenImages.has(this.#image)) {
      const message = `container valkey does not start (ImagePullBackOff: no image ${this.#image})`;
      this.current = { ...this.current, message, stuck: true };
      return;
    }
    const line = this.blind ? undefined : this.#lines.find((each) => fatalSettings.has(each));
    const message = line ? `${line} (argument must be between 1 and 64)` : '';
    const version = versionOf(this.#image);
    this.current = { ...this.current, verdict: line ? 'refused' : 'accepted', message, version };
  }
}
