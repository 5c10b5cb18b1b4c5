const out = process.stdout;
const live = out.isTTY && !process.env.CI;
export const colour = live && !process.env.NO_COLOR;

const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

export const green = (text: string) => paint(32, text);
export const red = (text: string) => paint(31, text);
export const dim = (text: string) => paint(2, text);
export const bold = (text: string) => paint(1, text);

export const pass = green('✓');
export const fail = red('✗');

/** Print a line that stays, above the live one. */
export function printLine(text = ''): void {
  out.write(`${live ? '\r\u001b[2K' : ''}${text}\n`);
}

/** Redraw the last line of a terminal; anywhere else nothing moves, so nothing is printed. */
export function drawStatus(text: string): void {
  if (live) out.write(`\r\u001b[2K${dim(text.slice(0, (out.columns || 100) - 1))}`);
}

export function clearStatus(): void {
  if (live) out.write('\r\u001b[2K');
}

export function duration(ms: number): string {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)}m ${Math.round((ms % 60_000) / 1000)}s`;
}
