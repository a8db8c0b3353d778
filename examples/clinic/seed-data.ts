/** The values from which the seed creates the records. */

export const firstNames = (
  'Ada Agnes Albert Alice Amir Anna Arthur Aylin Beatrice Ben Bruno Carla Cem Clara Daniel David Elena Elias Elif Emil ' +
  'Emma Erik Esther Felix Fiona Florian Frida Georg Greta Hanna Henri Ida Ines Ivan Jakob Jana Joan Johan Julia Karim ' +
  'Katja Lars Laura Lea Leo Lina Louis Lucia Magda Malik Marta Mateo Maya Milan Mina Nadia Nina Noah Nora Olga Oskar ' +
  'Pablo Paula Pia Rafael Rosa Ruth Samir Sara Selma Simon Sofia Stella Sven Tara Theo Tilda Tom Vera Viktor Yara Zoe'
).split(' ')

export const lastNames = (
  'Abel Adler Akin Almeida Andersson Bauer Becker Berg Blum Brandt Carvalho Castro Cohen Costa Demir Diaz Dupont Eriksen ' +
  'Fischer Fontana Garcia Gruber Haas Hansen Hoffmann Horvat Ilves Jansen Johansson Kaya Keller Klein Kovac Kowalski ' +
  'Kruger Lang Larsen Lehmann Lindgren Lopez Maier Marino Martin Meyer Moreau Moser Nagy Navarro Nielsen Novak Oliveira ' +
  'Olsen Pereira Peters Petrov Popescu Richter Rossi Roth Sato Schmid Silva Simon Sokolov Stein Suter Szabo Torres Vogel ' +
  'Wagner Weber Wolf Yilmaz Zimmer'
).split(' ')

export const cities =
  'Basel Bergen Bologna Brno Freiburg Gent Graz Linz Lund Lyon Porto Split Turin Turku Utrecht'.split(' ')

export const petNames = (
  'Asta Balu Bella Benny Bonnie Bruno Charlie Coco Cookie Daisy Diego Ella Emmi Fanny Filou Findus Finn Flocke Frodo ' +
  'Ginger Hazel Hugo Juno Kiwi Lotte Lucky Lulu Luna Maja Mango Merlin Mia Milo Mimi Mochi Momo Nala Nemo Oreo Oscar ' +
  'Paco Paula Pepper Pippa Polly Rex Rocky Rosie Ruby Rusty Sam Shadow Simba Smilla Sunny Toffee Tiger Tinka Toby Willow'
).split(' ')

/** code, label, lifespan in years, weights in kilograms, how many of a hundred animals. */
export const speciesRows = [
  ['dog', 'Dog', 13, 3, 45, 42],
  ['cat', 'Cat', 15, 2.5, 8, 34],
  ['rabbit', 'Rabbit', 9, 1, 4, 9],
  ['guineapig', 'Guinea pig', 6, 0.7, 1.3, 5],
  ['parrot', 'Parrot', 50, 0.1, 1.2, 4],
  ['tortoise', 'Tortoise', 80, 0.5, 6, 3],
  ['ferret', 'Ferret', 8, 0.6, 2, 2],
  ['horse', 'Horse', 28, 380, 650, 1],
] as const

export const tagRows = [
  ['calm', 'green'],
  ['loves children', 'green'],
  ['likes cheese', 'green'],
  ['therapy animal', 'green'],
  ['insured', 'green'],
  ['shy', 'amber'],
  ['afraid of dogs', 'amber'],
  ['diabetic', 'amber'],
  ['deaf', 'amber'],
  ['escapes', 'amber'],
  ['bites', 'red'],
  ['allergic to penicillin', 'red'],
] as const

// biome-ignore format: a list of words
export const specialtyNames = [
  'Anaesthesia', 'Behaviour', 'Birds', 'Cardiology', 'Dentistry', 'Dermatology', 'Internal medicine', 'Ophthalmology',
  'Reptiles', 'Surgery',
] as const

/** name, kind, price, unit, usual dose, days. */
export const treatmentRows = [
  ['General examination', 'examination', 38, 'piece', 1, 1],
  ['Blood count', 'examination', 54, 'ml', 2, 1],
  ['X-ray', 'examination', 96, 'piece', 1, 1],
  ['Ultrasound', 'examination', 118, 'piece', 1, 1],
  ['Rabies vaccine', 'vaccine', 42, 'ml', 1, 1],
  ['Distemper vaccine', 'vaccine', 45, 'ml', 1, 1],
  ['Feline leukaemia vaccine', 'vaccine', 58, 'ml', 1, 1],
  ['Myxomatosis vaccine', 'vaccine', 39, 'ml', 0.5, 1],
  ['Amoxicillin', 'medicine', 17, 'mg', 250, 7],
  ['Doxycycline', 'medicine', 21, 'mg', 100, 10],
  ['Meloxicam', 'medicine', 24, 'mg', 1.5, 5],
  ['Prednisolone', 'medicine', 13, 'mg', 5, 14],
  ['Insulin', 'medicine', 49, 'ml', 0.4, 30],
  ['Eye drops', 'medicine', 12, 'ml', 5, 7],
  ['Ear cleaner', 'medicine', 15, 'ml', 10, 14],
  ['Worm tablets', 'medicine', 9, 'piece', 2, 1],
  ['Flea collar', 'medicine', 28, 'piece', 1, 90],
  ['Castration', 'surgery', 190, 'piece', 1, 1],
  ['Tooth extraction', 'surgery', 140, 'piece', 1, 1],
  ['Wound suture', 'surgery', 85, 'piece', 1, 1],
  ['Fracture repair', 'surgery', 620, 'piece', 1, 1],
  ['Tumour removal', 'surgery', 480, 'piece', 1, 1],
] as const

/** name, level of the building, kinds of treatment. */
export const roomRows = [
  ['Consulting room 1', 0, ['examination', 'vaccine', 'medicine']],
  ['Consulting room 2', 0, ['examination', 'vaccine', 'medicine']],
  ['Consulting room 3', 0, ['examination', 'vaccine']],
  ['Theatre', 1, ['surgery', 'examination']],
  ['Small theatre', 1, ['surgery']],
  ['Imaging', -1, ['examination']],
  ['Stable', -1, ['examination', 'vaccine', 'medicine', 'surgery']],
] as const

// biome-ignore format: a list of words
export const reasons = [
  'Yearly check', 'Vaccination', 'Limps on a hind leg', 'Does not eat', 'Scratches all day', 'Cough at night',
  'Red eye', 'Ate a sock', 'Bad breath', 'Check after surgery', 'Drinks a lot', 'Wound after a fight',
  'Second opinion', 'Teeth', 'Worms', 'New in the family', 'Papers for a journey', 'Sneezes',
] as const

// biome-ignore format: a list of words
export const remarks = [
  'bright and alert', 'a little overweight', 'coat dull', 'lymph nodes normal', 'tartar, grade 2', 'come back in two weeks',
  'nails cut', 'heart murmur, grade 1', 'ears clean', 'owner informed about diet',
] as const
