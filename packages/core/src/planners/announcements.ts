import { announcedSettings } from '../announced.ts';
import { settingsInEffect } from '../builders/settings.ts';
import type { Decision, PlanView } from '../decision.ts';
import { listNames } from '../status/list-names.ts';
import type { Member } from '../topology.ts';
import { planConfig } from './config.ts';

/**
 * Clients outside find a new shard from its first slot on (C13): its nodes tell where, and every primary that sends clients
 * there has heard of it. Where the other primaries are not to be reached from outside either, nothing is waited for.
 */
export function planAnnouncements(view: PlanView): Decision | undefined {
  const { snapshot, topology } = view;
  const primaries = topology.shards.map(({ primary }) => primary);
  const crews = topology.newborn.flatMap(({ primary, replicas }) => [primary, ...replicas]);
  const announced = announcedSettings(snapshot);
  const addressOf = ({ pod }: Member) => announced[pod.name]?.['cluster-announce-client-ipv4'];
  if (crews.length === 0 || !primaries.some(addressOf)) return undefined;

  const lost = crews.filter((member) => addressOf(member) === undefined);
  if (lost.length > 0) return wait(lost, 'waits for the address of its Service for clients outside');
  const inEffect = settingsInEffect(snapshot)?.nodes;
  const isInEffect = ({ pod: { name } }: Member) =>
    Object.entries(announced[name] ?? {}).every(([setting, value]) => inEffect?.[name]?.[setting] === value);
  if (!crews.every(isInEffect)) return announce(view);
  const isHeard = (member: Member) =>
    primaries.every(({ cluster }) => cluster.nodes.find(({ id }) => id === member.id)?.clientIp === addressOf(member));
  const unheard = topology.newborn.map(({ primary }) => primary).filter((primary) => !isHeard(primary));
  return unheard.length > 0 ? wait(unheard, 'tells the other primaries where clients outside find it') : undefined;
}

/** Not when the settings as a whole are refused: that is for a person to correct, and told beside. */
function announce(view: PlanView): Decision | undefined {
  const { undo: _ofAnother, ...decision } = planConfig(view) ?? {};
  return 'reason' in decision ? decision : undefined;
}

function wait(members: readonly Member[], what: string): Decision {
  const names = listNames(members.map(({ pod }) => pod.name));
  return { reason: 'Reconfiguring', message: `${names} ${what}, before it gets slots.`, wakeAfterMs: 1000 };
}
