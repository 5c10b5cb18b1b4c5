/** What a long step can say while it runs. */
export interface Step {
  /** Replace the text behind the title: what is being waited for, or what is being done now. */
  note: (text: string) => void;
  /** Show how far a step of known size is. */
  progress: (done: number, total: number, unit?: string) => void;
}

/** Steps of long work, as a person sees them: one line each, with its outcome and the time it took. */
export interface Progress {
  step<T>(title: string, work: (step: Step) => Promise<T>): Promise<T>;
}

export const silentProgress: Progress = {
  step: (_title, work) => work({ note() {}, progress() {} }),
};

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const TITLE_WIDTH = 46;
const ERASE_LINE = '\r\u001b[2K';
const [RED, GREEN, CYAN] = [31, 32, 36];
const REDRAW_MS = 100;
/** On a pipe there is no line to redraw, so a long step says what it is doing this often. */
const QUIET_REPORT_MS = 15_000;

export function seconds(ms: number): string {
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const whole = Math.round(ms / 1000);
  return `${Math.floor(whole / 60)}m ${whole % 60}s`;
}

export function progressBar(done: number, total: number, width = 20): string {
  const filled = total > 0 ? Math.min(width, Math.round((done / total) * width)) : 0;
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

export interface ConsoleProgressOptions {
  out?: Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>;
  env?: NodeJS.ProcessEnv;
  now?: () => number;
}

/** Progress for people: a spinner that turns into a tick on a terminal, plain lines anywhere else. */
export function consoleProgress({
  out = process.stderr,
  env = process.env,
  now = Date.now,
}: ConsoleProgressOptions = {}): Progress {
  const live = out.isTTY && !env.CI;
  const colour = live && !env.NO_COLOR;
  /** What fits behind the mark without wrapping: a line that wraps cannot be drawn over. */
  const room = () => (live ? (out.columns || 100) - 5 : Infinity);
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

  return {
    async step(title, work) {
      const start = now();
      let note = '';
      let frame = 0;
      const line = (mark: string, colourCode: number) => {
        const text = `${title.padEnd(TITLE_WIDTH)} ${seconds(now() - start).padStart(7)}${note && `  ${note}`}`;
        return `  ${paint(colourCode, mark)} ${crop(text.replaceAll('\n', ' '), room())}`;
      };
      const draw = () => {
        if (live) out.write(`${ERASE_LINE}${line(SPINNER[frame++ % SPINNER.length]!, CYAN)}`);
      };
      const quietReport = () => out.write(`${line('…', CYAN)}\n`);
      const timer = setInterval(live ? draw : quietReport, live ? REDRAW_MS : QUIET_REPORT_MS);
      const finish = (mark: string, colourCode: number) => {
        clearInterval(timer);
        out.write(`${live ? ERASE_LINE : ''}${line(mark, colourCode)}\n`);
      };
      draw();
      try {
        const result = await work({
          note: (text) => {
            note = text;
            draw();
          },
          progress: (done, total, unit = '') => {
            note = `${progressBar(done, total)} ${done}/${total}${unit && ` ${unit}`}`;
            draw();
          },
        });
        finish('✓', GREEN);
        return result;
      } catch (error) {
        finish('✗', RED);
        throw error;
      }
    },
  };
}

function crop(text: string, room: number): string {
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}
