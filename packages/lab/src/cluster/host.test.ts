import { describe, expect, test } from 'vitest';
import { LabError } from '../errors.ts';
import { assertDiskSpace, assertPossible } from './host.ts';

const ALL = (1n << 41n) - 1n;
const CAP_SYS_ADMIN = 1n << 21n;

function refusal(check: () => void): LabError {
  try {
    check();
  } catch (error) {
    expect(error).toBeInstanceOf(LabError);
    return error as LabError;
  }
  throw new Error('it was not refused');
}

describe('what a lab needs of the machine', () => {
  test('root on Linux is enough', () => {
    expect(() => assertPossible({ platform: 'linux', uid: 0, capabilities: ALL })).not.toThrow();
  });

  test('another system is refused, and other ways are named', () => {
    const { code, message, remedy } = refusal(() => assertPossible({ platform: 'darwin', uid: 0, capabilities: 0n }));
    expect(code).toBe('NotLinux');
    expect(message).toContain('this is darwin');
    expect(remedy).toMatch(/Linux machine or VM.*--context NAME/);
  });

  test('another user than root is told to use sudo', () => {
    const { code, message, remedy } = refusal(() => assertPossible({ platform: 'linux', uid: 1000, capabilities: 0n }));
    expect(code).toBe('NotRoot');
    expect(message).toContain('needs root');
    expect(remedy).toContain('sudo');
  });

  test('root without the power to make namespaces is told what is missing', () => {
    const capabilities = ALL & ~CAP_SYS_ADMIN;
    const { code, message, remedy } = refusal(() => assertPossible({ platform: 'linux', uid: 0, capabilities }));
    expect(code).toBe('NotRoot');
    expect(message).toContain('root lacks CAP_SYS_ADMIN here');
    expect(remedy).toContain('privileged container');
  });

  test('a disk with 3 GiB free is enough, one byte less is refused with both figures', () => {
    const GIB = 1024 ** 3;
    expect(() => assertDiskSpace({ bavail: 3 * GIB, bsize: 1 })).not.toThrow();
    const { code, message, remedy } = refusal(() => assertDiskSpace({ bavail: GIB, bsize: 1 }));
    expect(code).toBe('DiskFull');
    expect(message).toMatch(/1\.0 GiB free, a lab needs 3\.0 GiB/);
    expect(remedy).toContain('free some disk space');
    expect(() => assertDiskSpace({ bavail: 3 * GIB - 1, bsize: 1 })).toThrow(LabError);
  });
});
