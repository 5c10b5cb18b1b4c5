import type { Forecast } from './forecast.ts';

/** For a terminal. */
export function formatForecast(forecast: Forecast): string {
  const { kinds, steps, pods, failovers, slotsMoved, keysMoved, disruptive, blockedBy } = forecast;
  if (steps.length === 0 && blockedBy.length === 0) return 'Nothing to do.';
  const width = String(steps.length).length;
  const touched = pods.length > 0 ? ` (${pods.join(', ')})` : '';
  return [
    kinds.join(', then ') || 'Nothing is done.',
    ...steps.map((step, index) => `  ${String(index + 1).padStart(width)}. ${step}`),
    `Pods touched: ${pods.length}${touched}`,
    ...(slotsMoved > 0 ? [`Slots moved:  ${slotsMoved}, with about ${keysMoved} keys`] : []),
    `Failovers:    ${failovers}`,
    `Disruptive:   ${disruptive ? 'yes' : 'no'}`,
    ...blockedBy.map((block) => `Blocked by:   ${block}`),
  ].join('\n');
}
