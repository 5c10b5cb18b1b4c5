import { writeFileSync } from 'node:fs';
import { catalogueFile, renderCatalogue } from './render-config-catalogue.ts';

writeFileSync(catalogueFile, renderCatalogue());
