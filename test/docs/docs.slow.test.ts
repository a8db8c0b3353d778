import { otherPages, testExamples } from './test-examples.ts'

testExamples(otherPages)
