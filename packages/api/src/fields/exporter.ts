import { flag, integer, object } from '../schema/field.ts';
import { image } from './image.ts';
import { resources } from './resources.ts';

export const exporter = object('Prometheus exporter beside every Valkey. Without effect in this version.', {
  enabled: flag('Whether the exporter runs.').optional(),
  image: image('Image of the exporter.').optional(),
  port: integer('Port of its metrics.', { min: 1024, max: 65_535 }).optional(),
  resources: resources('Resources of the exporter.').optional(),
});
