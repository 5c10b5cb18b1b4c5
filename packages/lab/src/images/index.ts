export { buildImages, type BuiltImage } from './build-images.ts';
export { importImages } from './import-images.ts';
export { writeOciImage } from './oci-image.ts';
