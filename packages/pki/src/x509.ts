// The library resolves its parts by decorators and fails on import when the polyfill is not there yet.
import 'reflect-metadata';

export * from '@peculiar/x509';
