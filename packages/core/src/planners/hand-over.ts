import { SlotSet } from '@valkey-operator/valkey';
import { type Decision, order } from '../decision.ts';
import { isServing } from '../status/health.ts';
import { type Member, offsetOf } from '../topology.ts';

/**
 * Who may take over: in sync, and aware of what its primary owns. One that has not heard yet that slots have moved away would
 * claim them back, without the keys.
 */
export function listHeirs(primary: Member, replicas: readonly Member[]): Member[] {
  const knowsSlots = ({ known }: Member) => SlotSet.parse(known.get(primary.id)?.slots ?? '').equals(primary.slots);
  const heirs = replicas.filter((replica) => isServing(replica) && knowsSlots(replica));
  return heirs.toSorted((a, b) => offsetOf(b) - offsetOf(a));
}

/** In agreement with the old primary, so no write is lost; the guard is what the heir must still be. */
export function orderHandover(primary: Member, heir: Member, message: string): Decision {
  const guard = { role: 'replica', primaryId: primary.id, linkUp: true } as const;
  const action = order(heir, { do: 'failover', mode: 'coordinated' }, 'PrimaryHandedOver', guard);
  return {
    reason: 'PrimaryHandedOver',
    message,
    disruptive: true,
    stages: [[action]],
    events: [{ reason: 'PrimaryHandedOver', message }],
  };
}
