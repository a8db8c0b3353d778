import { defineConfig } from 'keelson'
import { models, settings } from './models.ts'

export default defineConfig({ ...settings, models })
