// The views of the page, in the order in which they are read.
import { answer } from './view_answer.js';
import { domains } from './view_domains.js';
import { shift } from './view_shift.js';
import { methods, published } from './view_methods.js';
import { inside } from './view_inside.js';
import { explanations } from './view_explain.js';
import { study } from './view_study.js';
import { repeat } from './view_repeat.js';

export const views = [answer, domains, methods, shift, inside, explanations, study, published, repeat];
