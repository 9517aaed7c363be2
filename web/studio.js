// The entry of the studio: the page of the report with live data, and the studio's own panels before it.
import { liveSource } from './source.js';
import { startPage } from './page.js';
import { runsPanel } from './studio_runs.js';
import { startPanel } from './studio_start.js';
import { askPanel } from './studio_ask.js';

startPage(liveSource(), [runsPanel, startPanel, askPanel]);
