// The views of the page, in the order in which they are read.

export const views = [];
