import type { Log } from './log.ts';
import { readSettings, watchSettings } from './settings.ts';

/** The settings as they lie on disk now; Valkey may run with others (see SettingsInEffect). */
export class CurrentSettings {
  readonly #file: string;
  readonly #log: Log;
  readonly #stop: () => void;
  #verdict = { ok: false, hash: '', message: 'not read yet' };

  static async open(file: string, log: Log): Promise<CurrentSettings> {
    const settings = new CurrentSettings(file, log);
    await settings.#read();
    return settings;
  }

  private constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
    this.#stop = watchSettings(file, () => void this.#read());
  }

  get verdict(): { readonly ok: boolean; readonly hash: string; readonly message: string } {
    return this.#verdict;
  }

  close(): void {
    this.#stop();
  }

  async #read(): Promise<void> {
    const read = await readSettings(this.#file);
    const next = read.ok
      ? { ok: true, hash: read.value.hash, message: '' }
      : { ok: false, hash: this.#verdict.hash, message: read.message };
    if (next.hash === this.#verdict.hash && next.message === this.#verdict.message) return;
    this.#verdict = next;
    if (next.ok) this.#log.info('settings are on disk', { hash: next.hash });
    else this.#log.error('the settings cannot be used', { reason: next.message });
  }
}
