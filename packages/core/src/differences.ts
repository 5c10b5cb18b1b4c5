import { parseQuantity } from '@valkey-operator/api';

type Fields = Readonly<Record<string, unknown>>;

/** Where lists are merged by key in server-side apply, others may have added to them: only our own elements are compared. */
const LIST_KEYS = ['uid', 'name', 'mountPath', 'containerPort', 'topologyKey'] as const;

export interface Difference {
  readonly path: string;
  readonly is: unknown;
  readonly should: unknown;
}

/** For people: `spec.replicas is 9, should be 6`. */
export function describeDifference({ path, is, should }: Difference): string {
  return `${path} is ${show(is)}, should be ${show(should)}`;
}

/** Longer texts, such as a whole list, say more by their path. */
const SHOWN_LENGTH = 120;

function show(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}...` : text;
}

/**
 * Where an object lacks what we want of it. What others and the server's defaults have added is not compared, or we would
 * write for ever.
 */
export function findDifferences(wanted: unknown, observed: unknown, path = ''): Difference[] {
  if (isZero(wanted) && (observed === undefined || observed === null)) return [];
  const different = [{ path, is: observed, should: wanted }];
  if (Array.isArray(wanted)) return compareLists(wanted, observed, path);
  if (isFields(wanted)) {
    if (!isFields(observed)) return different;
    return Object.entries(wanted).flatMap(([key, value]) => findDifferences(value, observed[key], join(path, key)));
  }
  return wanted === undefined || isSameValue(wanted, observed, path) ? [] : different;
}

function compareLists(wanted: readonly unknown[], observed: unknown, path: string): Difference[] {
  const different = [{ path, is: observed, should: wanted }];
  if (!Array.isArray(observed)) return different;
  const key = LIST_KEYS.find((name) => wanted.length > 0 && wanted.every((item) => isFields(item) && name in item));
  if (key === undefined && wanted.length !== observed.length) return different;
  return wanted.flatMap((item, index) => {
    const name = key === undefined ? index : (item as Fields)[key];
    const other = key === undefined ? observed[index] : observed.find((each) => isFields(each) && each[key] === name);
    return findDifferences(item, other, `${path}[${String(name)}]`);
  });
}

/** The server writes quantities in its own way: 1024Mi becomes 1Gi. */
function isSameValue(wanted: unknown, observed: unknown, path: string): boolean {
  if (wanted === observed) return true;
  if (!/(^|\.)(limits|requests|sizeLimit)/.test(path)) return false;
  const isText = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';
  return isText(wanted) && isText(observed) && parseQuantity(wanted) === parseQuantity(observed);
}

/** What the server leaves out when it is written. */
function isZero(value: unknown): boolean {
  if (value === false || value === 0 || value === '' || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isFields(value) && Object.keys(value).length === 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
