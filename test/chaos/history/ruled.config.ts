import { defineConfig } from 'keelson'
import { settings } from './models.ts'
import { auth, ruledModels } from './rules.ts'

export default defineConfig({ ...settings, auth, models: ruledModels })
