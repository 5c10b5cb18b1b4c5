export { FakeApi, failure, json } from './fake-api.ts';
export { FakeClock, settle } from './fake-clock.ts';
