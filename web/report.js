// The entry of the offline report.
import { embeddedSource } from './source.js';
import { startPage } from './page.js';

startPage(embeddedSource(), []);
