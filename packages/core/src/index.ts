/**
 * Pure decisions: `planCluster(snapshot)` looks at everything known of one cluster and says what to do, what to tell
 * people, and what the status should read. No I/O, no clock, no random; the operator observes before and acts after.
 */
export type * from './actions.ts';
export { buildChildren } from './builders/children.ts';
export { podCount, type ChildrenInput } from './builders/children-input.ts';
export { EXPORTER } from './builders/exporter.ts';
export { childMetadata } from './builders/metadata.ts';
export { childNames } from './builders/names.ts';
export { TOKEN_AUDIENCE } from './builders/pod-template.ts';
export { asksForTheSame } from './forecast/basis.ts';
export { forecast, type Forecast, type Steps } from './forecast/forecast.ts';
export { formatForecast } from './forecast/format-forecast.ts';
export { type Foresee, foreseeInSteps, planAhead } from './forecast/plan-ahead.ts';
export { planCluster } from './plan.ts';
export type * from './snapshot.ts';
export { formatImage, parseImage, parseParts } from './builders/template-parts.ts';
export { buildImageTrialPod, buildTrialPod, readVersionTold, TRIAL } from './builders/trial-pod.ts';
export { findFatalSetting, findStuck } from './status/pod-problems.ts';
export { withUpgradedImage } from './upgrade/upgraded-image.ts';
export { nameTarget } from './upgrade/upgrade-status.ts';
