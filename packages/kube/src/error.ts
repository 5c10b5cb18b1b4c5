/**
 * What a caller should do: `retry` after reading again (its view was stale), `wait` and try the same again (the server is
 * busy, unwell or out of reach), or `stop`: the same request fails for ever until a person or a change of plan helps.
 */
export type Remedy = 'retry' | 'wait' | 'stop';

const REMEDIES = {
  NotFound: 'retry',
  AlreadyExists: 'retry',
  Conflict: 'retry',
  Expired: 'retry',
  TooManyRequests: 'wait',
  Timeout: 'wait',
  Unreachable: 'wait',
  ServerError: 'wait',
  Unauthorized: 'wait',
  FieldConflict: 'stop',
  Forbidden: 'stop',
  Invalid: 'stop',
  BadRequest: 'stop',
  BadResponse: 'wait',
  BadConfig: 'stop',
} as const satisfies Record<string, Remedy>;

export type KubeErrorCode = keyof typeof REMEDIES;

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** metav1.Status, as the API server sends it for every failure. */
export interface Status {
  code?: number;
  reason?: string;
  message?: string;
  details?: { causes?: StatusCause[]; retryAfterSeconds?: number };
}

interface KubeErrorFacts {
  /** HTTP status; absent when no answer came. */
  status?: number;
  retryAfterMs?: number;
  causes?: StatusCause[];
  cause?: unknown;
}

export class KubeError extends Error {
  readonly code: KubeErrorCode;
  readonly remedy: Remedy;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** For Invalid: the fields at fault. For FieldConflict: the fields and, in the message, who owns them. */
  readonly causes: readonly StatusCause[];

  constructor(code: KubeErrorCode, message: string, facts: KubeErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.name = 'KubeError';
    this.code = code;
    this.remedy = REMEDIES[code];
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.causes = facts.causes ?? [];
  }
}

export function isKubeError(error: unknown, ...codes: KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));
}

export function errorFromStatus(status: Status, httpStatus: number, retryAfterMs?: number): KubeError {
  const code = status.code ?? httpStatus;
  const causes = status.details?.causes ?? [];
  const told = status.details?.retryAfterSeconds;
  return new KubeError(classify(code, status.reason, causes), status.message ?? `HTTP ${code}`, {
    status: code,
    causes,
    retryAfterMs: retryAfterMs ?? (told === undefined ? undefined : told * 1000),
  });
}

function classify(code: number, reason: string | undefined, causes: StatusCause[]): KubeErrorCode {
  if (code === 409) {
    if (causes.some((cause) => cause.reason === 'FieldManagerConflict')) return 'FieldConflict';
    return reason === 'AlreadyExists' ? 'AlreadyExists' : 'Conflict';
  }
  if (code === 401) return 'Unauthorized';
  if (code === 403) return 'Forbidden';
  if (code === 404) return 'NotFound';
  if (code === 410) return 'Expired';
  if (code === 422) return 'Invalid';
  if (code === 429) return 'TooManyRequests';
  // 504, and the 500 that etcd's own time-out becomes.
  if (reason === 'Timeout' || reason === 'ServerTimeout') return 'Timeout';
  return code >= 500 ? 'ServerError' : 'BadRequest';
}
