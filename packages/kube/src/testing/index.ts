export { FakeApi, failure, json, untilAborted } from './fake-api.ts';
export { FakeClock, settle } from './fake-clock.ts';
