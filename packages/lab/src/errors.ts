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
