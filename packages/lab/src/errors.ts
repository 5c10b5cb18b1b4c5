/** Why the lab refused or failed. Each code has one meaning, so scripts and tests can tell them apart. */
export type LabErrorCode =
  | 'NotLinux'
  | 'NotRoot'
  | 'MissingTool'
  | 'AddressInUse'
  | 'DiskFull'
  | 'BadArgument'
  | 'AlreadyRunning'
  | 'NotFound'
  | 'ChecksumMismatch'
  | 'BinaryUnavailable'
  | 'ImageUnavailable'
  | 'CommandFailed'
  | 'ComponentFailed'
  | 'Timeout';

/** An expected failure: `message` says what is wrong, `remedy` what the person can do about it. */
export class LabError extends Error {
  readonly code: LabErrorCode;
  readonly remedy: string;

  constructor(code: LabErrorCode, message: string, remedy: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LabError';
    this.code = code;
    this.remedy = remedy;
  }
}

/** A disk can fill up anywhere, in any file that is written. */
export function explainError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOSPC') return error;
  return new LabError('DiskFull', `the disk is full: ${error.message}`, 'free some space and run this again', error);
}
