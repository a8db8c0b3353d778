import { certification } from './models/certification.ts'
import { owner } from './models/owner.ts'
import { pet } from './models/pet.ts'
import { prescription } from './models/prescription.ts'
import { room } from './models/room.ts'
import { specialty } from './models/specialty.ts'
import { species } from './models/species.ts'
import { tag } from './models/tag.ts'
import { treatment } from './models/treatment.ts'
import { vet } from './models/vet.ts'
import { visit } from './models/visit.ts'

export const models = { owner, pet, species, tag, visit, prescription, treatment, vet, certification, specialty, room }
