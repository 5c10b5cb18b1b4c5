import { cron } from '../schema/cron.ts';
import { duration } from '../schema/duration.ts';
import { list, object } from '../schema/field.ts';

export const maintenanceWindows = list(
  'When disruptive changes may run, in UTC. None: at once. Repairs never wait.',
  object('A repeated span of time.', {
    cron: cron('When the window opens, in UTC: "0 4 * * 6,0" is every Saturday and Sunday at 04:00.'),
    duration: duration('How long it stays open: 90m, 4h.'),
  }),
  { max: 16 },
);
