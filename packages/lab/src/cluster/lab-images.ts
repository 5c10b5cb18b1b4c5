import { LabError } from '../errors.ts';
import { buildImages, type BuiltImage } from '../images/index.ts';
import type { Step } from '../progress.ts';

/**
 * The images that every node of a new lab holds. Our own are among them when they build; a lab is of use without them, if
 * only to whoever is in the middle of changing them. Installing the operator insists.
 */
export async function buildLabImages(step: Step, binariesDir: string): Promise<BuiltImage[]> {
  try {
    return await buildImages({ step, binariesDir });
  } catch (error) {
    if (!(error instanceof LabError) || error.code !== 'ImageUnavailable') throw error;
    const images = await buildImages({ step, binariesDir, apps: [] });
    step.note('without our own, which do not build; make lab-install says why');
    return images;
  }
}
