import { nextFiring, parseDuration } from '@valkey-operator/api';
import type { ClusterSnapshot } from '../snapshot.ts';

export interface Windows {
  readonly isOpen: boolean;
  /** When the next one opens; undefined: none ever does. */
  readonly opensAt: number | undefined;
}

/** Whether disruptive work may begin now, and if not, when (C9). Without windows it may at any time. */
export function readWindows({ spec: { maintenanceWindows }, now }: ClusterSnapshot): Windows {
  const isWithin = ({ cron, duration }: (typeof maintenanceWindows)[number]) => {
    const opened = nextFiring(cron, now - parseDuration(duration));
    return opened !== undefined && opened <= now;
  };
  const openings = maintenanceWindows.flatMap(({ cron }) => nextFiring(cron, now) ?? []);
  return {
    isOpen: maintenanceWindows.length === 0 || maintenanceWindows.some(isWithin),
    opensAt: openings.length > 0 ? Math.min(...openings) : undefined,
  };
}
