/** esbuild bundles the styles that modules import into one style sheet per page. */
declare module '*.css';
