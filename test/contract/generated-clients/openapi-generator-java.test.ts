import t from 'tap';
import { SHORT_RUN, testOpenApiGenerator } from './openapi-generator.ts';

const compiler = SHORT_RUN.map((option) => `-J${option}`);

testOpenApiGenerator(t, {
  language: 'Java',
  // The folder of the jars in openapi-generator-java/pom.xml.
  variable: 'FOREIGN_JAVA',
  commands: (jars) => {
    const classPath = ['-cp', `classes:${jars}/*`];
    return {
      compile: [
        ['sh', '-c', 'find . -name "*.java" > sources'],
        ['javac', ...compiler, '-proc:none', ...classPath, '-d', 'classes', '@sources'],
      ],
      program: ['java', ...SHORT_RUN, ...classPath, 'Main'],
    };
  },
});
