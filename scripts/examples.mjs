/** The copy-and-paste lines `npm start` prints; the Worker's own page shows the same ones. */

export { examplesFor } from '../src/api/examples.ts';
