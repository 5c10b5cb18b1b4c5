export { buildImages, type BuildImagesOptions, type BuiltImage } from './build-images.ts';
export { importImages, type ImportImagesOptions } from './import-images.ts';
export { writeOciImage, type Arch } from './oci-image.ts';
export type { App } from './app-image.ts';
