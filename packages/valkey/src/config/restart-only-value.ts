/**
 * What can be said of a value that no running node can try, because the setting takes a restart. There are few such
 * settings that users may give, and Valkey's rules for them are simple; a value that passes here is proven by a Valkey of its own
 * before any node hears of it.
 */
export function checkRestartOnlyValue(name: string, value: string): string | undefined {
  const rule = rules[name.toLowerCase()];
  return rule?.isValid(value) === false ? `must be ${rule.words}` : undefined;
}

interface ValueRule {
  readonly words: string;
  readonly isValid: (value: string) => boolean;
}

const yesNo: ValueRule = { words: 'yes or no', isValid: (value) => /^(yes|no)$/i.test(value) };

const cpuList: ValueRule = {
  words: 'a list of processors such as 0,2-5',
  isValid: (value) => /^(\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*)?$/.test(value),
};

function integer(min: number, max: number): ValueRule {
  return {
    words: `a whole number from ${min} to ${max}`,
    isValid: (value) => /^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= max,
  };
}

const INT_MAX = 2 ** 31 - 1;

const rules: Readonly<Record<string, ValueRule>> = {
  'always-show-logo': yesNo,
  'aof-rewrite-cpulist': cpuList,
  aof_rewrite_cpulist: cpuList,
  'bgsave-cpulist': cpuList,
  bgsave_cpulist: cpuList,
  'bio-cpulist': cpuList,
  bio_cpulist: cpuList,
  databases: integer(1, INT_MAX),
  'disable-thp': yesNo,
  'io-threads': integer(1, 128),
  'io-threads-do-reads': yesNo,
  mptcp: yesNo,
  rdbchecksum: yesNo,
  'repl-mptcp': yesNo,
  'server-cpulist': cpuList,
  server_cpulist: cpuList,
  'set-proc-title': yesNo,
  'socket-mark-id': integer(0, 2 ** 32 - 1),
  'tcp-backlog': integer(0, INT_MAX),
};
