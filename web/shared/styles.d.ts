/** esbuild gathers the styles that a module imports into the page's one style sheet. */
declare module '*.css';
