import { writeFileSync } from 'node:fs';
import { catalogueFile, defaultsFile, renderCatalogue, renderDefaults } from './render-config-catalogue.ts';

writeFileSync(catalogueFile, renderCatalogue());
writeFileSync(defaultsFile, renderDefaults());
