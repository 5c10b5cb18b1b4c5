import { renameSync, writeFileSync } from 'node:fs';

/** Write a file so that readers, and whoever comes after a crash, see the old text or the new one and never a part of it. */
export function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}
