// The entry of the studio.
import { liveSource } from './source.js';
import { startPage } from './page.js';

startPage(liveSource(), []);
