export * from './cluster-info.ts';
